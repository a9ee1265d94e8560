// Runs before the first paint, so pages never flash all languages.
import { rememberedLanguage } from "./language.ts";

document.documentElement.dataset.lang = rememberedLanguage();
