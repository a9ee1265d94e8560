// Settings of services that can move old months to an archive.
import {
  type ConfigValues,
  integerSetting,
  matchingText,
  optionalSetting,
  type Setting,
} from "#platform/process/config.ts";

/** `file:///folder`, or `https://host/bucket/prefix` with the region as `?region=`. */
const location: Setting<URL> = {
  parse: (raw) => {
    const url = URL.canParse(raw) ? new URL(raw) : undefined;
    const isLocal = url?.protocol === "http:" && ["localhost", "127.0.0.1"].includes(url.hostname);
    const isBucket = (isLocal || url?.protocol === "https:") && url?.username === "" && url.pathname.length > 1;
    if (!url || !(isBucket || (url.protocol === "file:" && url.host === "")))
      throw new Error("must be file:///folder or https://host/bucket");
    return url;
  },
};

export const archiveSettings = {
  /** Folder or S3-compatible bucket; absent: nothing is archived. */
  ARCHIVE_URL: optionalSetting(location),
  /** For a bucket: access key id and secret access key. */
  ARCHIVE_KEY: optionalSetting(matchingText(/^[^:\s]+:\S+$/, "must be ID:SECRET")),
  /** Months older than this are archived by themselves; absent: only by `tollbooth archive run`. */
  ARCHIVE_AFTER_MONTHS: optionalSetting(integerSetting(6, 1_200)),
} as const;

export type ArchiveConfig = ConfigValues<typeof archiveSettings>;
