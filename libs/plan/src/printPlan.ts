import type { Plan } from "./Plan.ts"

/** The text that was parsed, byte for byte. */
export const printPlan = (plan: Plan): string => plan.source
