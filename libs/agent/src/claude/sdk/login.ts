/** Whether Claude has a login or a key, as its own program says. Nothing is sent to anybody. */
import { runProgram } from "@reprise/process"
import { Effect, Schema } from "effect"
import { claudeEnvironment } from "../../agentEnvironment.ts"
import { locateClaude } from "./ClaudeSdk.ts"

const decodeStatus = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ loggedIn: Schema.Boolean })))

/**
 * Undefined where the program does not tell. Claude reads the settings of `directory`, which may run a command to get a
 * key: they must be trusted. Fails with `ClaudeNotInstalled`.
 */
export const claudeLogin = Effect.fn("claudeLogin")(function* (
  directory: string,
  environment: Readonly<Record<string, string | undefined>> = process.env
) {
  const { program } = yield* locateClaude(environment)
  return yield* runProgram({
    program,
    args: ["auth", "status"],
    directory,
    environment: claudeEnvironment(environment),
    timeoutMs: 20_000
  }).pipe(
    Effect.flatMap(({ stdout }) => decodeStatus(stdout)),
    Effect.map(({ loggedIn }) => loggedIn),
    Effect.orElseSucceed(() => undefined)
  )
})
