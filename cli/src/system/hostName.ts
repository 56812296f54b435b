import { isKey } from "@reprise/protocol"
import { Effect } from "effect"
import { wrongUse } from "../terminal/CliFailure.ts"

/** The name of this host in subjects: `REPRISE_HOST`, else `local`. */
export const hostName = Effect.suspend(() => {
  const name = process.env["REPRISE_HOST"] ?? "local"
  return isKey(name)
    ? Effect.succeed(name)
    : wrongUse("bad-host", `REPRISE_HOST is '${name.slice(0, 80)}'.`, "Use 1 to 64 letters, digits, '_' or '-'.")
})
