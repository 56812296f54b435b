/** Which models Claude offers here: it says so before it is prompted. */
import { type PipedProcess, startPiped } from "@reprise/process"
import { Effect } from "effect"
import type { ClaudeSdk } from "./loadSdk.ts"

/** `anthropic/…` of each model, in Claude's order; its own aliases, such as `opus`, are among them. */
export const listModels = (sdk: ClaudeSdk, directory: string, environment: Readonly<Record<string, string>>) =>
  Effect.tryPromise(async () => {
    const done = Promise.withResolvers<void>()
    let child: PipedProcess | undefined
    const query = sdk.query({
      prompt: (async function* () {
        await done.promise
      })(),
      options: {
        cwd: directory,
        env: { ...environment },
        pathToClaudeCodeExecutable: sdk.program,
        settingSources: ["user"],
        spawnClaudeCodeProcess: ({ args, command }) => {
          child = startPiped({ program: command, args, environment, directory })
          child.stderr.resume()
          return child
        }
      }
    })
    try {
      return (await query.supportedModels()).map(({ value }) => `anthropic/${value}`)
    } finally {
      done.resolve()
      child?.kill()
      await child?.exited
      query.close()
    }
  })
