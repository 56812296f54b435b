/** Names and paths that follow from a plan; relative to the workspace, with `/`. Texts from plans cannot leave it. */
import type { Plan } from "./Plan.ts"

const longestSlug = 48

/** Lower-case letters and digits of any script, joined by `-`; `fallback` when there are none. */
export const slugOf = (text: string, fallback = "plan"): string => {
  const words = text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
  const slug = [...words.replace(/^-+/, "")].slice(0, longestSlug).join("").replace(/-+$/, "")
  return slug === "" ? fallback : slug
}

/** `docs/plans/AUTH_Plan.md` gives `auth-plan`: names branches and review files. */
export const planSlug = (planPath: string): string => {
  const name = planPath.split(/[\\/]/).findLast((part) => part !== "") ?? ""
  return slugOf(name.replace(/(?<=.)\.(?:md|markdown)$/i, ""))
}

/** The plan's own id, or one from its path: what `plan_id` says in the state file. */
export const planIdOf = (plan: Pick<Plan, "id">, planPath: string): string => plan.id ?? planSlug(planPath)

/** workspace: Review files. In the template, `{plan}` and `{phase}` are filled in. */
export const reviewPath = (
  planPath: string,
  phase: string,
  template = "docs/reviews/{plan}-phase-{phase}-review.md"
): string => template.replaceAll("{plan}", () => planSlug(planPath)).replaceAll("{phase}", () => phase)

/**
 * `.planning/phases/{NN}-{slug}` (continuation: The state file). NN is the number that the first argument begins with, a
 * phase's (`2`, `2.1`) or a plan's (`02-01`), with two digits: 02, 02.1, 02; 00 when there is none.
 */
export const continuationDirectory = (phaseOrPlanId: string, slug: string): string => {
  const [major = "0", ...minor] = (/^\d+(?:\.\d+)*/.exec(phaseOrPlanId)?.[0] ?? "0").split(".")
  return `.planning/phases/${[major.padStart(2, "0"), ...minor].join(".")}-${slugOf(slug)}`
}

export const continuationStatePath = (phaseOrPlanId: string, slug: string): string =>
  `${continuationDirectory(phaseOrPlanId, slug)}/.continuation-state.json`

export const summaryPath = (phaseOrPlanId: string, slug: string): string =>
  `${continuationDirectory(phaseOrPlanId, slug)}/SUMMARY.md`
