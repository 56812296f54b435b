/** The one function that applies rules, for every runtime: deny before ask before allow. Pure. */
import { addressName, addressOf, matchesAddress } from "./addressPatterns.ts"
import { allowsCommand, startsIn } from "./commandPatterns.ts"
import { matchesFile } from "./filePatterns.ts"
import type { PermissionRules, Place, RememberedRule, ToolRequest } from "./PermissionRules.ts"

/**
 * `unsaid`: no rule is about it, so the session's mode decides. `rule`: the one that decided, for the agent. An `ask` of
 * which nobody can tell whether it is denied, or asked for, has none.
 */
export type Decision =
  | { readonly _tag: "deny"; readonly rule: string }
  | { readonly _tag: "ask" }
  | { readonly _tag: "allow" }
  | { readonly _tag: "unsaid" }

const ask: Decision = { _tag: "ask" }
const allow: Decision = { _tag: "allow" }
const unsaid: Decision = { _tag: "unsaid" }
const deny = (kind: string, pattern: string | undefined): Decision => ({
  _tag: "deny",
  rule: `permissions.deny.${kind}${pattern === undefined ? "" : `: ${pattern}`}`
})

const isRemembered = ({ remembered }: PermissionRules, kind: RememberedRule["kind"], what: string): boolean =>
  remembered.some((rule) => rule.kind === kind && rule.what === what)

const decideCommand = (rules: PermissionRules, command: string): Decision => {
  const starts = startsIn(command)
  const denied = rules.deny.commands.find((pattern) => starts([pattern]) === "yes")
  if (denied !== undefined) return deny("commands", denied)
  const asked = starts([...rules.ask.commands, ...rules.deny.commands])
  if (asked !== "no") return ask
  return isRemembered(rules, "command", command) || allowsCommand(rules.allow.commands, command) ? allow : unsaid
}

/** Names of files are compared without their case: on some disks both are the same file. */
const holdsBack = (patterns: ReadonlyArray<string>, { name, real }: Place): string | undefined =>
  patterns.find((pattern) =>
    [name, real ?? name].some((path) => matchesFile(pattern.toLowerCase(), path.toLowerCase()))
  )

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

const decideFiles = (rules: PermissionRules, kind: "read" | "change", places: ReadonlyArray<Place>): Decision => {
  for (const place of places) {
    const denied = holdsBack(rules.deny.files, place)
    if (denied !== undefined) return deny("files", denied)
  }
  const patterns = [...rules.ask.files, ...rules.deny.files]
  const isAsked = (place: Place) => holdsBack(patterns, place) !== undefined
  // A link that leads to no known place may lead to one that is held back.
  if (patterns.length > 0 && places.some((place) => place.real === undefined || isAsked(place))) return ask
  const allows = ({ guarded, real }: Place) =>
    real !== undefined &&
    !guarded &&
    !rules.closed.some((folder) => isBelow(real, folder)) &&
    (isRemembered(rules, kind, real) || rules.allow.files.some((pattern) => matchesFile(pattern, real)))
  return places.length > 0 && places.every(allows) ? allow : unsaid
}

const decideAddress = (rules: PermissionRules, url: string): Decision => {
  const address = addressOf(url)
  const matching = (patterns: ReadonlyArray<string>) =>
    patterns.find((pattern) => pattern === "*" || (address !== undefined && matchesAddress(pattern, address)))
  const denied = matching(rules.deny.addresses)
  if (denied !== undefined) return deny("addresses", denied)
  if (matching(rules.ask.addresses) !== undefined) return ask
  if (address === undefined) return rules.deny.addresses.length + rules.ask.addresses.length > 0 ? ask : unsaid
  const remembered = isRemembered(rules, "address", addressName(address))
  return remembered || matching(rules.allow.addresses) !== undefined ? allow : unsaid
}

export const decide = (rules: PermissionRules, request: ToolRequest): Decision => {
  switch (request.kind) {
    case "command":
      return decideCommand(rules, request.command)
    case "read":
    case "change":
      return decideFiles(rules, request.kind, request.places)
    case "address":
      return decideAddress(rules, request.url)
    case "tool":
      return isRemembered(rules, "tool", request.name) ? allow : unsaid
  }
}

const rulesFor = (request: ToolRequest): ReadonlyArray<RememberedRule> => {
  switch (request.kind) {
    case "command":
      return [{ kind: "command", what: request.command }]
    case "read":
    case "change":
      return request.places.flatMap(({ real }) => (real === undefined ? [] : [{ kind: request.kind, what: real }]))
    case "address": {
      const address = addressOf(request.url)
      return address === undefined ? [] : [{ kind: "address", what: addressName(address) }]
    }
    case "tool":
      return [{ kind: "tool", what: request.name }]
  }
}

/** What `always` writes for a request; empty: it would change nothing, since another rule or a guard stands before it. */
export const rememberable = (rules: PermissionRules, request: ToolRequest): ReadonlyArray<RememberedRule> => {
  const added = rulesFor(request)
  const decision = decide({ ...rules, remembered: [...rules.remembered, ...added] }, request)
  return decision._tag === "allow" ? added : []
}
