// The SDK's errors in Portuguese.
import type { ErrorTexts } from "./error-texts.ts";

export const pt: ErrorTexts = {
  title: "Dados do cartão",
  load_failed: "Não foi possível carregar o formulário de pagamento. Tente novamente.",
  secret_unavailable: "Não foi possível carregar o formulário de pagamento. Tente novamente.",
  csp_blocked: "Este pagamento não pode ser feito aqui.",
  timeout: "Está a demorar demasiado. Tente novamente.",
  offline: "Parece que está sem ligação. Verifique-a e tente novamente.",
  invalid_secret: "Esta ligação de pagamento não é válida.",
  incomplete: "Verifique os dados do cartão.",
  session_expired: "Esta ligação de pagamento expirou. Nada foi cobrado.",
  session_canceled: "Este pagamento foi cancelado. Nada foi cobrado.",
  declined: "O seu cartão foi recusado. Tente outro cartão.",
  unconfirmed: "O seu banco não confirmou o pagamento. Tente de novo ou contacte o banco.",
  connector_error: "O pagamento não foi concluído e nada foi cobrado. Tente novamente.",
  unsupported_surface: "Este pagamento não pode ser feito aqui.",
  invalid_target: "Este pagamento não pode ser feito aqui.",
  not_mounted: "O formulário de pagamento não está visível.",
  destroyed: "O formulário de pagamento não está visível.",
  api_key_in_browser: "Este pagamento não pode ser feito aqui.",
  rate_limited: "Demasiadas tentativas. Aguarde um momento.",
  server_error: "Algo correu mal do nosso lado. Tente novamente.",
};
