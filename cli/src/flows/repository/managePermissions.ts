/** `reprise permissions`: the rules that hold for agents in this repository, and removing those that were written at the gate. */

import { type RememberedRule, ruleText } from "@reprise/agent"
import { defined } from "@reprise/protocol"
import { Effect } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import type { Config } from "../../config/resolveConfig.ts"
import { identifyClone, readClone } from "../../project/cloneId.ts"
import { findRepository, type Project } from "../../project/Project.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { visible, visibleLine } from "../../terminal/visible.ts"
import { rememberedRules, ruleId, type StoredRule } from "../../trust/rememberedRules.ts"
import { agentSettings, trustedSettings } from "../../trust/trustedSettings.ts"
import { untrusted } from "../../trust/trustStore.ts"
import { table } from "../../views/table.ts"

const kinds = ["commands", "files", "addresses"] as const

/** In the order in which they decide. */
const verdicts = ["deny", "ask", "allow"] as const

const configured = Effect.fnUntraced(function* (project: Project, config: Config) {
  const { settings } = yield* untrusted(project, trustedSettings(config, agentSettings))
  return verdicts.flatMap((verdict) =>
    kinds.flatMap((kind) => {
      const path = `permissions.${verdict}.${kind}` as const
      const { name, source } = config.resolved(path)
      const trusted = !settings.some(({ setting }) => setting === path)
      return config.settings[`permissions.${verdict}`][kind].map((rule) => ({
        verdict,
        kind,
        rule,
        from: name ?? source,
        trusted
      }))
    })
  )
})

const shown = (rule: StoredRule) => ({ id: ruleId(rule), kind: rule.kind, what: rule.what, since: rule.since })

export const listPermissions = Effect.fn("listPermissions")(function* ({ json }: { readonly json: boolean }) {
  const project = yield* findRepository(process.cwd())
  const config = yield* loadConfig(project.root)
  const rules = yield* configured(project, config)
  const { entries, trouble } = yield* rememberedRules.read(yield* readClone(project))
  if (json) {
    const mode = config.settings.permissions
    return okJson({ mode, rules, remembered: entries.map(shown), ...defined({ trouble }) })
  }
  if (trouble !== undefined) say(visible(trouble))
  if (rules.length + entries.length === 0) return say("There are no rules here: agents ask, or the sandbox decides.")
  const rows = [
    ...rules.map(({ from, kind, rule, trusted, verdict }) => [
      "",
      verdict,
      `${kind}: ${visibleLine(rule)}`,
      `${visibleLine(from)}${trusted ? "" : ", not trusted yet"}`
    ]),
    ...entries.map((rule) => [ruleId(rule), "allow", visibleLine(ruleText(rule)), `you, ${rule.since.slice(0, 10)}`])
  ]
  data(table(["id", "", "rule", "from"], rows))
})

export const removePermissions = Effect.fn("removePermissions")(function* (flags: {
  readonly ids: ReadonlyArray<string>
  readonly all: boolean
  readonly json: boolean
}) {
  const { all, ids, json } = flags
  if (all === ids.length > 0) {
    return yield* wrongUse("usage", "Name the rules to remove, or use --all.", "'reprise permissions' lists them.")
  }
  const clone = yield* identifyClone(yield* findRepository(process.cwd()))
  const { entries } = yield* rememberedRules.read(clone)
  const isWanted = (rule: RememberedRule) => all || ids.includes(ruleId(rule))
  const unknown = ids.find((id) => !entries.some((rule) => ruleId(rule) === id))
  if (unknown !== undefined) {
    return yield* wrongUse(
      "unknown-rule",
      `No rule that was written at the gate has the id ${unknown}.`,
      "'reprise permissions' lists them. Other rules are in reprise.toml."
    )
  }
  const removed = entries.filter(isWanted)
  yield* rememberedRules.write(
    clone,
    entries.filter((rule) => !isWanted(rule))
  )
  if (json) return okJson({ removed: removed.map(shown) })
  for (const rule of removed) say(`Removed: ${visibleLine(ruleText(rule))}`)
  if (removed.length === 0) say("There was no rule to remove.")
})
