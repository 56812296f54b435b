/** `reprise trust [PLAN]`: shows the commands of `reprise.toml`, or of a plan, and trusts them on this machine. */
import { Effect, Option } from "effect"
import { loadConfig } from "../config/loadConfig.ts"
import { okJson, say, visible } from "../Printer.ts"
import { readPlan } from "../run/readPlan.ts"
import { commandLines, commandsOf } from "./commands.ts"
import { findProject } from "./Project.ts"
import { trust } from "./trust.ts"

export const trustCommand = Effect.fn("trustCommand")(function* (flags: {
  readonly plan: Option.Option<string>
  readonly json: boolean
}) {
  const project = yield* findProject(process.cwd())
  const plan = Option.isNone(flags.plan) ? undefined : yield* readPlan(project, flags.plan.value)
  const commands = commandsOf(yield* loadConfig(project.root, new Map(), plan))
  yield* trust(project, commands)
  if (flags.json) return okJson({ root: project.root, commands })
  if (commands.length === 0) return say(`${plan?.path ?? "reprise.toml"} names no commands; nothing to trust.`)
  say(`Trusted on this machine, until they change:\n${visible(commandLines(commands))}`)
})
