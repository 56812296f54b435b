/** Every prompt that users may replace, as the services that send them declare them. */
import { templates as ofAuthors } from "@reprise/orchestrator/prompts"
import type { Template } from "@reprise/plan/template"
import { templates as ofReviewers } from "@reprise/reviewer/prompts"
import { templates as ofReports } from "@reprise/session-manager/prompts"

export const catalogue: ReadonlyArray<Template> = [...Object.values(ofAuthors), ...ofReviewers, ...ofReports]

export const templateNamed = (name: string): Template | undefined => catalogue.find((one) => one.name === name)
