// The SDK's errors in Japanese.
import type { ErrorTexts } from "./error-texts.ts";

export const ja: ErrorTexts = {
  title: "カード情報",
  load_failed: "お支払いフォームを読み込めませんでした。もう一度お試しください。",
  secret_unavailable: "お支払いフォームを読み込めませんでした。もう一度お試しください。",
  csp_blocked: "ここではこのお支払いを行えません。",
  timeout: "時間がかかりすぎています。もう一度お試しください。",
  offline: "オフラインのようです。接続を確認してもう一度お試しください。",
  invalid_secret: "この支払いリンクは無効です。",
  incomplete: "カード情報をご確認ください。",
  session_expired: "この支払いリンクは有効期限が切れました。請求は行われていません。",
  session_canceled: "このお支払いはキャンセルされました。請求は行われていません。",
  declined: "カードが承認されませんでした。別のカードをお試しください。",
  unconfirmed:
    "カード発行会社がお支払いを承認しませんでした。もう一度お試しいただくか、カード発行会社にお問い合わせください。",
  connector_error: "お支払いは完了せず、請求も行われていません。もう一度お試しください。",
  unsupported_surface: "ここではこのお支払いを行えません。",
  invalid_target: "ここではこのお支払いを行えません。",
  not_mounted: "お支払いフォームが表示されていません。",
  destroyed: "お支払いフォームが表示されていません。",
  api_key_in_browser: "ここではこのお支払いを行えません。",
  rate_limited: "試行回数が多すぎます。しばらくお待ちください。",
  server_error: "システムに問題が発生しました。もう一度お試しください。",
};
