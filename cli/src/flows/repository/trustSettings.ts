/** `reprise trust [PLAN]`: shows what `reprise.toml`, or a plan, allows, and trusts it on this machine. */
import { Effect, Option } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import { findProject } from "../../project/Project.ts"
import { readPlan } from "../../project/planFile.ts"
import { okJson, say, visible } from "../../terminal/Printer.ts"
import { isCommand, powerLines, powersOf } from "../../trust/trustedSettings.ts"
import { trust } from "../../trust/trustStore.ts"

export const trustCommand = Effect.fn("trustCommand")(function* (flags: {
  readonly plan: Option.Option<string>
  readonly json: boolean
}) {
  const project = yield* findProject(process.cwd())
  const plan = Option.isNone(flags.plan) ? undefined : yield* readPlan(project, flags.plan.value)
  const powers = powersOf(yield* loadConfig(project.root, new Map(), plan))
  yield* trust(project, powers)
  if (flags.json) {
    const lists = powers.filter(isCommand)
    return okJson({
      root: project.root,
      commands: lists.map(({ values, ...where }) => ({ ...where, commands: values })),
      settings: powers.flatMap(({ values, ...where }) =>
        isCommand({ values, ...where }) ? [] : values.map((value) => ({ ...where, value }))
      )
    })
  }
  if (powers.length === 0) return say(`${plan?.path ?? "reprise.toml"} allows nothing that needs trust.`)
  say(`Trusted on this machine, until it changes:\n${visible(powerLines(powers))}`)
})
