// Texts of receipts and payment links in the languages of the payment page, with `{…}` for values.

export interface ReceiptTexts {
  readonly subject: string;
  readonly refundSubject: string;
  readonly paid: string;
  readonly refunded: string;
  readonly test: string;
  readonly total: string;
  readonly refund: string;
  readonly for: string;
  readonly date: string;
  readonly card: string;
  readonly cardEnding: string;
  readonly reference: string;
  readonly seller: string;
  readonly support: string;
  readonly why: string;
  readonly linkSubject: string;
  readonly request: string;
  readonly pay: string;
  readonly until: string;
  readonly linkWhy: string;
}

const en: ReceiptTexts = {
  subject: "Your receipt from {merchant}",
  refundSubject: "Your refund from {merchant}",
  paid: "Thank you. You have paid {amount} to {merchant}.",
  refunded: "{merchant} has refunded {amount} to you. It may take a few days to appear on your statement.",
  test: "This is a test. No real money is involved.",
  total: "Total",
  refund: "Refund",
  for: "For",
  date: "Date",
  card: "Card",
  cardEnding: "{brand} ending in {last4}",
  reference: "Reference",
  seller: "Sold by {name}",
  support: "Questions? Write to {email}",
  why: "You receive this mail because this address was entered for the payment.",
  linkSubject: "Payment request from {merchant}",
  request: "{merchant} requests a payment of {amount}.",
  pay: "Pay {amount}",
  until: "Valid until",
  linkWhy: "{merchant} sent this payment request to your address. If you do not expect it, ignore this mail.",
};

const de: ReceiptTexts = {
  subject: "Ihr Beleg von {merchant}",
  refundSubject: "Ihre Erstattung von {merchant}",
  paid: "Vielen Dank. Sie haben {amount} an {merchant} bezahlt.",
  refunded: "{merchant} hat Ihnen {amount} erstattet. Bis zur Gutschrift können einige Tage vergehen.",
  test: "Dies ist ein Test. Es fließt kein echtes Geld.",
  total: "Gesamt",
  refund: "Erstattung",
  for: "Zweck",
  date: "Datum",
  card: "Karte",
  cardEnding: "{brand} mit Endziffern {last4}",
  reference: "Referenz",
  seller: "Verkauft von {name}",
  support: "Fragen? Schreiben Sie an {email}",
  why: "Sie erhalten diese E-Mail, weil diese Adresse bei der Zahlung angegeben wurde.",
  linkSubject: "{merchant} bittet um eine Zahlung",
  request: "{merchant} bittet Sie um eine Zahlung von {amount}.",
  pay: "{amount} bezahlen",
  until: "Gültig bis",
  linkWhy:
    "{merchant} hat diese Zahlungsanfrage an Ihre Adresse gesendet. Wenn Sie sie nicht erwarten, ignorieren Sie diese E-Mail.",
};

const fr: ReceiptTexts = {
  subject: "Votre reçu de {merchant}",
  refundSubject: "Votre remboursement de {merchant}",
  paid: "Merci. Vous avez payé {amount} à {merchant}.",
  refunded: "{merchant} vous a remboursé {amount}. Quelques jours peuvent passer avant que votre banque ne l’affiche.",
  test: "C’était un test : aucun argent réel n’est transféré.",
  total: "Total",
  refund: "Remboursement",
  for: "Objet",
  date: "Date",
  card: "Carte",
  cardEnding: "{brand} se terminant par {last4}",
  reference: "Référence",
  seller: "Vendu par {name}",
  support: "Des questions ? Écrivez à {email}",
  why: "Vous recevez ce message car cette adresse a été indiquée lors du paiement.",
  linkSubject: "{merchant} demande un paiement",
  request: "{merchant} vous demande de payer {amount}.",
  pay: "Payer {amount}",
  until: "Valable jusqu’au",
  linkWhy:
    "Vous recevez ce message car {merchant} l’a envoyé à cette adresse. Si vous n’en attendez pas, ne faites rien.",
};

const es: ReceiptTexts = {
  subject: "Su recibo de {merchant}",
  refundSubject: "Su reembolso de {merchant}",
  paid: "Gracias. Ha pagado {amount} a {merchant}.",
  refunded: "{merchant} le ha reembolsado {amount}. Su banco puede tardar unos días en mostrarlo.",
  test: "Ha sido una prueba: no se mueve dinero real.",
  total: "Total",
  refund: "Reembolso",
  for: "Concepto",
  date: "Fecha",
  card: "Tarjeta",
  cardEnding: "{brand} terminada en {last4}",
  reference: "Referencia",
  seller: "Vendido por {name}",
  support: "¿Preguntas? Escriba a {email}",
  why: "Recibe este correo porque se indicó esta dirección al pagar.",
  linkSubject: "{merchant} solicita un pago",
  request: "{merchant} le pide que pague {amount}.",
  pay: "Pagar {amount}",
  until: "Válido hasta",
  linkWhy: "Recibe este mensaje porque {merchant} lo envió a esta dirección. Si no espera ninguno, no haga nada.",
};

const it: ReceiptTexts = {
  subject: "La sua ricevuta di {merchant}",
  refundSubject: "Il suo rimborso da {merchant}",
  paid: "Grazie. Ha pagato {amount} a {merchant}.",
  refunded: "{merchant} le ha rimborsato {amount}. La sua banca può impiegare alcuni giorni per mostrarlo.",
  test: "Era una prova: non viene mosso denaro reale.",
  total: "Totale",
  refund: "Rimborso",
  for: "Causale",
  date: "Data",
  card: "Carta",
  cardEnding: "{brand} che termina con {last4}",
  reference: "Riferimento",
  seller: "Venduto da {name}",
  support: "Domande? Scriva a {email}",
  why: "Riceve questo messaggio perché questo indirizzo è stato indicato per il pagamento.",
  linkSubject: "{merchant} richiede un pagamento",
  request: "{merchant} le chiede di pagare {amount}.",
  pay: "Paga {amount}",
  until: "Valido fino al",
  linkWhy:
    "Riceve questo messaggio perché {merchant} lo ha inviato a questo indirizzo. Se non ne aspetta, non faccia nulla.",
};

const nl: ReceiptTexts = {
  subject: "Uw betalingsbewijs van {merchant}",
  refundSubject: "Uw terugbetaling van {merchant}",
  paid: "Bedankt. U hebt {amount} betaald aan {merchant}.",
  refunded: "{merchant} heeft u {amount} terugbetaald. Het kan enkele dagen duren voordat uw bank dit toont.",
  test: "Dit was een test: er wordt geen echt geld verplaatst.",
  total: "Totaal",
  refund: "Terugbetaling",
  for: "Omschrijving",
  date: "Datum",
  card: "Kaart",
  cardEnding: "{brand} eindigend op {last4}",
  reference: "Referentie",
  seller: "Verkocht door {name}",
  support: "Vragen? Schrijf naar {email}",
  why: "U ontvangt deze mail omdat dit adres bij de betaling is opgegeven.",
  linkSubject: "{merchant} vraagt om een betaling",
  request: "{merchant} vraagt u {amount} te betalen.",
  pay: "Betaal {amount}",
  until: "Geldig tot",
  linkWhy:
    "U ontvangt deze mail omdat {merchant} die naar dit adres heeft gestuurd. Verwacht u er geen, doe dan niets.",
};

const pl: ReceiptTexts = {
  subject: "Potwierdzenie płatności od {merchant}",
  refundSubject: "Zwrot od {merchant}",
  paid: "Dziękujemy. Zapłacono {amount} na rzecz {merchant}.",
  refunded: "Otrzymujesz zwrot {amount} od {merchant}. Bank może pokazać go dopiero po kilku dniach.",
  test: "To był test: prawdziwe pieniądze nie są przekazywane.",
  total: "Razem",
  refund: "Zwrot",
  for: "Tytuł",
  date: "Data",
  card: "Karta",
  cardEnding: "{brand} kończąca się na {last4}",
  reference: "Numer referencyjny",
  seller: "Sprzedawca: {name}",
  support: "Pytania? Napisz na adres {email}",
  why: "Ta wiadomość przyszła, ponieważ ten adres podano przy płatności.",
  linkSubject: "{merchant} prosi o płatność",
  request: "{merchant} prosi o zapłatę {amount}.",
  pay: "Zapłać {amount}",
  until: "Ważny do",
  linkWhy:
    "Otrzymujesz tę wiadomość, ponieważ {merchant} wysłał ją na ten adres. Jeśli się jej nie spodziewasz, nic nie rób.",
};

const pt: ReceiptTexts = {
  subject: "O seu recibo de {merchant}",
  refundSubject: "O seu reembolso de {merchant}",
  paid: "Obrigado. Pagou {amount} a {merchant}.",
  refunded: "{merchant} reembolsou-lhe {amount}. O seu banco pode demorar alguns dias a mostrá-lo.",
  test: "Isto foi um teste: não é movimentado dinheiro real.",
  total: "Total",
  refund: "Reembolso",
  for: "Descrição",
  date: "Data",
  card: "Cartão",
  cardEnding: "{brand} terminado em {last4}",
  reference: "Referência",
  seller: "Vendido por {name}",
  support: "Perguntas? Escreva para {email}",
  why: "Recebe esta mensagem porque este endereço foi indicado no pagamento.",
  linkSubject: "{merchant} pede um pagamento",
  request: "{merchant} pede-lhe que pague {amount}.",
  pay: "Pagar {amount}",
  until: "Válido até",
  linkWhy: "Recebe esta mensagem porque {merchant} a enviou para este endereço. Se não espera nenhuma, não faça nada.",
};

const ja: ReceiptTexts = {
  subject: "{merchant}からの領収書",
  refundSubject: "{merchant}からの返金",
  paid: "ありがとうございます。{merchant}に{amount}をお支払いいただきました。",
  refunded: "{merchant}が{amount}を返金しました。銀行に反映されるまで数日かかることがあります。",
  test: "これはテストです。実際のお金は動きません。",
  total: "合計",
  refund: "返金",
  for: "内容",
  date: "日付",
  card: "カード",
  cardEnding: "{brand}（末尾 {last4}）",
  reference: "参照番号",
  seller: "販売者：{name}",
  support: "ご質問は {email} までお寄せください",
  why: "お支払いの際にこのメールアドレスが入力されたため、お送りしています。",
  linkSubject: "{merchant}からのお支払いのお願い",
  request: "{merchant}が{amount}のお支払いをお願いしています。",
  pay: "{amount}を支払う",
  until: "有効期限",
  linkWhy: "このメールは{merchant}がこのアドレスに送信したものです。心当たりがない場合は何もしないでください。",
};

const ar: ReceiptTexts = {
  subject: "إيصالك من {merchant}",
  refundSubject: "المبلغ المسترد من {merchant}",
  paid: "شكرًا لك. لقد دفعت {amount} إلى {merchant}.",
  refunded: "أعاد إليك {merchant} مبلغ {amount}. قد يستغرق ظهوره لدى مصرفك بضعة أيام.",
  test: "كان هذا اختبارًا: لا تُنقل أموال حقيقية.",
  total: "الإجمالي",
  refund: "المبلغ المسترد",
  for: "الوصف",
  date: "التاريخ",
  card: "البطاقة",
  cardEnding: "{brand} المنتهية بالأرقام {last4}",
  reference: "المرجع",
  seller: "البائع: {name}",
  support: "هل لديك أسئلة؟ راسلنا على {email}",
  why: "وصلتك هذه الرسالة لأن هذا العنوان أُدخل عند الدفع.",
  linkSubject: "{merchant} يطلب دفعة",
  request: "يطلب منك {merchant} دفع {amount}.",
  pay: "ادفع {amount}",
  until: "صالح حتى",
  linkWhy: "وصلتك هذه الرسالة لأن {merchant} أرسلها إلى هذا العنوان. إن لم تكن تتوقعها فلا تفعل شيئًا.",
};

/** By language subtag. */
export const receiptTexts: ReadonlyMap<string, ReceiptTexts> = new Map(
  Object.entries({ en, de, fr, es, it, nl, pl, pt, ja, ar }),
);
