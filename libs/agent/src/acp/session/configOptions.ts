/** The choices that an agent offers for a session. Pure. */
import type { SessionConfigOption } from "@agentclientprotocol/sdk"

type Select = Extract<SessionConfigOption, { type: "select" }>

export const modelOption = (options: ReadonlyArray<SessionConfigOption>): Select | undefined =>
  options.find((it): it is Select => it.type === "select" && (it.category === "model" || it.id === "model"))

/** How much the model is to think. An agent that offers it may change what it offers with the model. */
export const variantOption = (options: ReadonlyArray<SessionConfigOption>): Select | undefined =>
  options.find((it): it is Select => it.type === "select" && it.category === "thought_level")

export const valuesOf = ({ options }: Select): ReadonlyArray<string> =>
  options.flatMap((it) => ("options" in it ? it.options.map(({ value }) => value) : [it.value]))

/** The model that a session uses now. */
export const currentModel = (options: ReadonlyArray<SessionConfigOption>): string | undefined => {
  const value = modelOption(options)?.currentValue
  return typeof value === "string" ? value : undefined
}

const hasOptions = (answer: unknown): answer is { readonly configOptions: ReadonlyArray<SessionConfigOption> } =>
  typeof answer === "object" && answer !== null && "configOptions" in answer && Array.isArray(answer.configOptions)

/** What an agent's answer about a session offers. */
export const optionsIn = (answer: unknown): ReadonlyArray<SessionConfigOption> =>
  hasOptions(answer) ? answer.configOptions : []
