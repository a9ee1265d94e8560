// The SDK's errors in Arabic.
import type { ErrorTexts } from "./error-texts.ts";

export const ar: ErrorTexts = {
  title: "بيانات البطاقة",
  load_failed: "تعذّر تحميل نموذج الدفع. حاول مرة أخرى.",
  secret_unavailable: "تعذّر تحميل نموذج الدفع. حاول مرة أخرى.",
  csp_blocked: "لا يمكن إجراء عملية الدفع هذه هنا.",
  timeout: "يستغرق هذا وقتًا طويلًا. حاول مرة أخرى.",
  offline: "يبدو أنك غير متصل بالإنترنت. تحقق من اتصالك وحاول مرة أخرى.",
  invalid_secret: "رابط الدفع هذا غير صالح.",
  incomplete: "تحقق من بيانات البطاقة.",
  session_expired: "انتهت صلاحية رابط الدفع هذا. لم يُخصم أي مبلغ.",
  session_canceled: "أُلغيت عملية الدفع. لم يُخصم أي مبلغ.",
  declined: "رُفضت بطاقتك. جرّب بطاقة أخرى.",
  unconfirmed: "لم يؤكد مصرفك عملية الدفع. حاول مجددًا أو اتصل بمصرفك.",
  connector_error: "لم تتم عملية الدفع ولم يُخصم أي مبلغ. حاول مرة أخرى.",
  unsupported_surface: "لا يمكن إجراء عملية الدفع هذه هنا.",
  invalid_target: "لا يمكن إجراء عملية الدفع هذه هنا.",
  not_mounted: "نموذج الدفع غير معروض.",
  destroyed: "نموذج الدفع غير معروض.",
  api_key_in_browser: "لا يمكن إجراء عملية الدفع هذه هنا.",
  rate_limited: "محاولات كثيرة جدًا. انتظر قليلًا.",
  server_error: "حدث خطأ من جانبنا. حاول مرة أخرى.",
};
