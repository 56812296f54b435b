import { ForeignFileRefused } from "@reprise/process"
import { missing } from "./CliFailure.ts"

/** A file that a command needs is not one that can be read. `path`: as the user knows it. */
export const notRead = (code: string, path: string, cause: unknown) =>
  missing(
    code,
    cause instanceof ForeignFileRefused ? `${path} ${cause.what}.` : `${path} cannot be read.`,
    "It must be a regular file that you may read, of ordinary size.",
    cause
  )
