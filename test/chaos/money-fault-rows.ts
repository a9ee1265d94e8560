// Rows of the fault table: what a processor does to the money of one payment without being asked.
import { type FaultRow, row } from "./fault-row.ts";

export const moneyFaults = [
  row(
    "refund fails later",
    "processor",
    "both",
    "A refund that succeeded fails days later.",
    "Its amount is given back in payment and journal; payment.refunded stays as told.",
  ),
  row(
    "several disputes",
    "processor",
    "both",
    "One payment is disputed more than once.",
    "Each is booked; the payment is disputed while one is open or lost.",
  ),
  row(
    "debit returned",
    "processor",
    "both",
    "A debit that succeeded comes back.",
    "The capture is reversed in the journal, the payment is failed with code returned.",
  ),
  row(
    "paid again after a return",
    "processor",
    "both",
    "A captured payment's debit comes back and its buyer authorizes it again, before the webhook of the capture arrives.",
    "The last attempt counts: what is said late of the one before changes nothing, and what is captured of it is booked.",
  ),
  row(
    "reference changed",
    "processor",
    "both",
    "The reference of a paid intent is removed or names another payment, as an edit at the dashboard does.",
    "The payment goes on by the intent's id: refunds and disputes are its own, and no other payment is touched.",
  ),
  row(
    "captured at the dashboard",
    "processor",
    "both",
    "What is authorized, or a part, is captured at the processor's dashboard, also while we capture it.",
    "Booked as the merchant's, once; ours is refused, or was the same. Another amount than ours is an alert.",
  ),
  row(
    "captured again",
    "processor",
    "both",
    "More of an authorization is captured after its capture.",
    "Booked besides with its fee, and an alert.",
  ),
  row(
    "authorization lapses",
    "processor",
    "both",
    "Its time is over, also while a capture or a cancellation is under way.",
    "The payment is canceled with code expired; nothing was captured, and what was under way ends.",
  ),
  row(
    "page ends early",
    "processor",
    "both",
    "The page where the buyer pays ends before its session, also in the moment of paying.",
    "Paid there or not, by the processor's word alone; if not another intent takes its place, once, and never can two be paid.",
  ),
  row(
    "amounts that differ",
    "processor",
    "both",
    "The intent has another amount or currency than the one asked for.",
    "Never booked as the payment: in suspense, with the actions that end it.",
  ),
  row(
    "second charge",
    "processor",
    "both",
    "A second intent under our reference is paid.",
    "In suspense and in the journal, and given back on an operator's word.",
  ),
  row(
    "second refund",
    "processor",
    "both",
    "A second refund under our reference.",
    "A refund row of its own, counted in the refunded amount, and in suspense.",
  ),
] as const satisfies readonly FaultRow[];
