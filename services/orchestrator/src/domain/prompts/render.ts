import { renderTemplate, type Template, type ValuesOf } from "@reprise/plan/template"
import type { Run } from "../Run.ts"
import { type TemplateName, templates } from "./templates.ts"

/** The template, or the text that the run's options have in its place, filled in. */
export const render = <Name extends TemplateName>(
  run: Run,
  name: Name,
  values: ValuesOf<(typeof templates)[Name]>
): string => {
  const template: Template = templates[name]
  return renderTemplate(template, values, run.request.options.prompts[name])
}
