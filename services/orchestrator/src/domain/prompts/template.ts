/**
 * Prompts are templates with `{name}`s that are filled in once: what is filled in is never read again, whatever it
 * contains. A template of the run's options replaces the one of the same name. None of them speaks of the report's
 * format: the session-manager asks for the report afterwards, and recognises its own prompt by that.
 */
export type TemplateName =
  | "work"
  | "quality-retry"
  | "auto-fix"
  | "clean-tree"
  | "commit-rejected"
  | "report-correction"
  | "report"
  | "context"
  | "continuation"

export const fill = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) => values[name] ?? whole)

/** The parts that say something, with a blank line between them. */
export const paragraphs = (...parts: ReadonlyArray<string>): string =>
  parts.filter((part) => part.trim() !== "").join("\n\n")

const introduction = "The user has provided the following additional guidance:"

/** At the end of a prompt, word for word. */
export const guidanceText = (texts: ReadonlyArray<string>): string =>
  texts.length === 0 ? "" : `${introduction}\n${texts.join("\n\n")}`
