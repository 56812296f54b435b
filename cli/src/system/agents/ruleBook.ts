/** The rules that hold for agents in a repository: those of the settings, and those that were written at the gate. */
import { realpathSync } from "node:fs"
import { noRules, type PermissionRules, type RememberedRule, type RuleBook } from "@reprise/agent"
import { userConfigFolder } from "@reprise/process"
import { Effect, Semaphore } from "effect"
import type { Settings } from "../../config/settingsTable.ts"
import { identifyClone } from "../../project/cloneId.ts"
import type { Project } from "../../project/Project.ts"
import { rememberedRules, ruleId } from "../../trust/rememberedRules.ts"

interface Options {
  readonly project: Project
  readonly settings: Settings
}

const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const rulesOf = (settings: Settings): PermissionRules => ({
  ...noRules,
  allow: settings["permissions.allow"],
  ask: settings["permissions.ask"],
  deny: settings["permissions.deny"],
  closed: [userConfigFolder(process.env), realPath(userConfigFolder(process.env))]
})

/** For commands that only look: nothing is allowed and nothing is written, but what is held back stays so. */
export const heldBackOnly = (settings: Settings): RuleBook => ({
  rules: Effect.succeed({ ...rulesOf(settings), allow: noRules.allow }),
  remember: () => Effect.void
})

/**
 * The rules of whoever does the work of a repository, which has asked for trust before. What is written here, or removed by
 * another process, holds for the next request. Outside of a clone nothing can be remembered.
 */
export const ruleBook = ({ project, settings }: Options): RuleBook => {
  const configured = rulesOf(settings)
  const clone = Effect.runSync(Effect.cached(Effect.result(identifyClone(project))))
  const oneByOne = Semaphore.makeUnsafe(1)
  const remembered = Effect.flatMap(clone, (found) =>
    found._tag === "Success"
      ? Effect.map(rememberedRules.read(found.success), ({ entries }) => entries)
      : Effect.succeed([])
  )
  const remember = Effect.fnUntraced(
    function* (rules: ReadonlyArray<RememberedRule>) {
      const found = yield* Effect.fromResult(yield* clone)
      const { entries } = yield* rememberedRules.read(found)
      const known = new Set(entries.map(ruleId))
      const since = new Date().toISOString()
      const added = rules.filter((rule) => !known.has(ruleId(rule))).map((rule) => ({ ...rule, since }))
      if (added.length > 0) yield* rememberedRules.write(found, [...entries, ...added])
    },
    oneByOne.withPermits(1),
    Effect.catch(({ message }) => Effect.logWarning(`a rule could not be remembered: ${message}`))
  )
  return { rules: Effect.map(remembered, (entries) => ({ ...configured, remembered: entries })), remember }
}
