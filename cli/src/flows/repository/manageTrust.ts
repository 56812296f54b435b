/** `reprise trust [PLAN]`: trusts what a repository would run or allow, lists it, revokes it, and signs its state folder. */
import { defined } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { findRepository, type Project } from "../../project/Project.ts"
import { adoptState } from "../../project/stateOrigin.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { visible, visibleLine } from "../../terminal/visible.ts"
import { readTrust, removeTrust, type TrustEntry } from "../../trust/trustFile.ts"
import { trustSettings } from "./trustSettings.ts"

interface Flags {
  readonly plan: Option.Option<string>
  readonly list: boolean
  readonly revoke: boolean
  readonly state: boolean
  readonly json: boolean
}

const lineOf = ({ from, trustedAt, values, what }: TrustEntry): string =>
  [`${from}, ${what} (since ${trustedAt}):`, ...values.map((value) => `  ${value}`)].join("\n")

const list = Effect.fnUntraced(function* (project: Project, json: boolean) {
  const { entries, trouble } = yield* readTrust(project)
  if (json) {
    return okJson({
      root: project.root,
      trusted: entries.map(({ digest: _, ...entry }) => entry),
      ...defined({ trouble })
    })
  }
  if (trouble !== undefined) say(visible(trouble))
  else if (entries.length === 0) say("Nothing is trusted in this clone.")
  for (const entry of entries) data(visible(lineOf(entry)))
})

const revoke = Effect.fnUntraced(function* (project: Project, json: boolean) {
  const { entries } = yield* readTrust(project)
  yield* removeTrust(project)
  if (json) return okJson({ root: project.root, revoked: entries.length })
  say("Nothing is trusted in this clone any more. Runs in progress keep the settings that they started with.")
})

const signState = Effect.fnUntraced(function* (project: Project, json: boolean) {
  const adopted = yield* adoptState(project)
  if (json) return okJson({ directory: project.directory, state: adopted })
  switch (adopted) {
    case "absent":
      return say("There is no state here yet: it is signed when it is created.")
    case "own":
      return say(`${visibleLine(project.directory)} is signed already.`)
    case "signed":
      return say(`${visibleLine(project.directory)} is signed: this machine now trusts its content.`)
  }
})

export const manageTrust = Effect.fn("manageTrust")(function* (flags: Flags) {
  const { json, plan } = flags
  const wanted = [flags.list, flags.revoke, flags.state, Option.isSome(plan)]
  if (wanted.filter((one) => one).length > 1) {
    return yield* wrongUse(
      "usage",
      "'reprise trust' does one thing at a time.",
      "Use PLAN, --list, --revoke or --state alone."
    )
  }
  // Trust needs nothing of the state folder, and works whatever is in it.
  const project = yield* findRepository(process.cwd())
  if (flags.list) return yield* list(project, json)
  if (flags.revoke) return yield* revoke(project, json)
  if (flags.state) return yield* signState(project, json)
  return yield* trustSettings(project, { plan, json })
})
