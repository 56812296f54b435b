/** Shows a notice on this machine's desktop. */
import { type ProgramFailed, runProgram } from "@reprise/process"
import { Effect } from "effect"
import type { Outcome } from "../../notify/attempts.ts"
import { desktopNotice } from "../../notify/desktopNotice.ts"
import type { Notices } from "../../notify/Notice.ts"
import { type DesktopChannel, longestWaitMs, type SendOptions } from "./Channel.ts"

const failed = ({ reason }: ProgramFailed, path: string, timeoutMs: number): Outcome =>
  reason === "timeout"
    ? { _tag: "Failed", reason: `it did not end within ${timeoutMs / 1000} seconds`, maybeReceived: true }
    : { _tag: "Failed", reason: `${path} cannot be started`, maybeReceived: false }

/** Never fails. What the program writes is not read. */
export const show = Effect.fn("show")(function* (
  { program: { argumentsOf, environment, path } }: DesktopChannel,
  notices: Notices,
  { localOrigin, origin = localOrigin, timeoutMs = longestWaitMs }: SendOptions = {}
) {
  const args = argumentsOf(desktopNotice(notices, origin))
  return yield* runProgram({ program: path, args, environment, timeoutMs }).pipe(
    Effect.match({
      onSuccess: ({ exitCode }): Outcome => {
        const reason = `${path} ended with ${exitCode}, as it does where nobody has a desktop open`
        return exitCode === 0 ? { _tag: "Delivered" } : { _tag: "Failed", reason, maybeReceived: false }
      },
      onFailure: (error) => failed(error, path, timeoutMs)
    })
  )
})
