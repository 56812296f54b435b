/** `reprise trust`: shows the commands of `reprise.toml` and trusts them on this machine. */
import { Effect } from "effect"
import { loadConfig } from "../config/loadConfig.ts"
import { okJson, say, visible } from "../Printer.ts"
import { findProject } from "./Project.ts"
import { commandsOf, trust } from "./trust.ts"

export const trustCommand = Effect.fn("trustCommand")(function* (flags: { readonly json: boolean }) {
  const project = yield* findProject(process.cwd())
  const config = yield* loadConfig(project.root, new Map())
  const commands = commandsOf(config)
  yield* trust(project, config)
  if (flags.json) return okJson({ root: project.root, commands })
  if (commands.length === 0) return say("reprise.toml names no commands; nothing to trust.")
  say(`Trusted on this machine, until they change:\n${commands.map((command) => `  ${visible(command)}`).join("\n")}`)
})
