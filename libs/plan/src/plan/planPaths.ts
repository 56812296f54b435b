/** Names and paths derived from a plan. Paths are relative to the workspace, use `/`, and cannot leave the workspace. */
import type { Plan } from "./Plan.ts"

const longestSlug = 48

/** Lower-case letters and digits of any script, joined by `-`; `fallback` when the text has none. */
export const slugOf = (text: string, fallback = "plan"): string => {
  const words = text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
  const slug = [...words.replace(/^-/, "")].slice(0, longestSlug).join("").replace(/-$/, "")
  return slug === "" ? fallback : slug
}

const baseName = (planPath: string): string =>
  (planPath.split(/[\\/]/).findLast((part) => part !== "") ?? "").replace(/(?<=.)\.(?:md|markdown)$/i, "")

/** `plans/AUTH_Plan.md` gives `auth-plan`: names branches. */
export const planSlug = (planPath: string): string => slugOf(baseName(planPath))

/** `plans/AUTH_Plan.md` gives `AUTH_Plan`; a name that is not a safe path segment gives its slug. */
export const planName = (planPath: string): string => {
  const name = baseName(planPath)
  return name === "" || /^\.+$|\p{Cc}/u.test(name) ? slugOf(name) : name
}

/** The plan's own id, else one from its path. This is the state file's `plan_id`. */
export const planIdOf = (plan: Pick<Plan, "id">, planPath: string): string => plan.id ?? planSlug(planPath)

/** Where a review is written. In `template`, `{plan}` (the name of the plan's file) and `{phase}` are filled in. */
export const reviewPath = (
  planPath: string,
  phase: string,
  template = "docs/reviews/{plan}-phase-{phase}-review.md"
): string => template.replaceAll(/\{(?:plan|phase)\}/g, (found) => (found === "{plan}" ? planName(planPath) : phase))

/**
 * `.planning/phases/{NN}-{slug}` (docs/design/continuation.md#the-state-file). NN is the number at the start of the id of
 * a phase (`2`, `2.1`) or a plan (`02-01`), with two digits: 02, 02.1, 02; without a number it is 00.
 */
const continuationDirectory = (phaseOrPlanId: string, slug: string): string => {
  const [major = "0", ...minor] = (/^\d+(?:\.\d+)*/.exec(phaseOrPlanId)?.[0] ?? "0").split(".")
  return `.planning/phases/${[major.padStart(2, "0"), ...minor].join(".")}-${slugOf(slug)}`
}

export const continuationStatePath = (phaseOrPlanId: string, slug: string): string =>
  `${continuationDirectory(phaseOrPlanId, slug)}/.continuation-state.json`

/** The summary's path, given the state file's path. */
export const besideState = (statePath: string): string =>
  `${statePath.slice(0, statePath.lastIndexOf("/") + 1)}SUMMARY.md`

export const summaryPath = (phaseOrPlanId: string, slug: string): string =>
  `${continuationDirectory(phaseOrPlanId, slug)}/SUMMARY.md`
