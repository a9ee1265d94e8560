// The SDK's errors in the languages that are not English. The build writes each as a file beside the SDK; it is loaded
// where it is wanted.
import { ar } from "./ar.ts";
import { de } from "./de.ts";
import type { ErrorTexts } from "./error-texts.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { it } from "./it.ts";
import { ja } from "./ja.ts";
import { nl } from "./nl.ts";
import { pl } from "./pl.ts";
import { pt } from "./pt.ts";

/** By primary language subtag. */
export const errorTexts: Readonly<Record<string, ErrorTexts>> = { ar, de, es, fr, it, ja, nl, pl, pt };
