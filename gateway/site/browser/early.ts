// Runs before the first paint, so that no page shows three languages and then one.
import { rememberedLanguage } from "./language.ts";

document.documentElement.dataset.lang = rememberedLanguage();
