/** An agent's questions to a human: a form with a field for each. Pure. */
import { Schema } from "effect"
import type { PendingPrompt, PromptOption, Question } from "../../RuntimeEvent.ts"

const Choice = Schema.Struct({
  const: Schema.String,
  title: Schema.optionalKey(Schema.NullOr(Schema.String)),
  description: Schema.optionalKey(Schema.NullOr(Schema.String))
})

const Field = Schema.Struct({
  type: Schema.String,
  title: Schema.optionalKey(Schema.NullOr(Schema.String)),
  description: Schema.optionalKey(Schema.NullOr(Schema.String)),
  enum: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String))),
  oneOf: Schema.optionalKey(Schema.NullOr(Schema.Array(Choice))),
  items: Schema.optionalKey(
    Schema.Struct({
      enum: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String))),
      anyOf: Schema.optionalKey(Schema.NullOr(Schema.Array(Choice)))
    })
  )
})
type Field = typeof Field.Type

const Form = Schema.Struct({
  mode: Schema.Literal("form"),
  sessionId: Schema.String,
  message: Schema.String,
  requestedSchema: Schema.Struct({
    properties: Schema.Record(Schema.String, Field),
    required: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String)))
  })
})
export type Form = typeof Form.Type

/** None for what is not a form, or of no session: an address to visit, for example. */
export const decodeForm = Schema.decodeUnknownOption(Form)

const choiceOf = ({ const: name, description, title }: typeof Choice.Type): PromptOption => ({
  name,
  label: [title ?? name, ...(description ? [description] : [])].join(": ")
})

const optionsOf = (field: Field): ReadonlyArray<PromptOption> => {
  const titled = field.oneOf ?? field.items?.anyOf
  if (titled) return titled.map(choiceOf)
  if (field.type === "boolean") return ["yes", "no"].map((name) => ({ name, label: name }))
  return (field.enum ?? field.items?.enum ?? []).map((name) => ({ name, label: name }))
}

const questionOf = ({ message }: Form, name: string, field: Field, alone: boolean): Question => ({
  question: alone ? message : (field.description ?? field.title ?? name),
  options: optionsOf(field),
  multiple: field.type === "array"
})

const fieldsOf = (form: Form) => Object.entries(form.requestedSchema.properties)

export const questionsOf = (form: Form): ReadonlyArray<Question> => {
  const fields = fieldsOf(form)
  return fields.map(([name, field]) => questionOf(form, name, field, fields.length === 1))
}

export const formPrompt = (
  promptId: string,
  form: Form,
  at: { readonly sessionId: string; readonly causePromptId: string }
): PendingPrompt => {
  const questions = questionsOf(form)
  const texts = questions.map(({ question }) => question)
  return {
    ...at,
    promptId,
    kind: "question",
    text: [...(texts.length === 1 ? [] : [form.message]), ...texts].join("\n"),
    options: questions[0]?.options ?? [],
    questions
  }
}

/** Undefined: the field does not accept it, so the field is left out. */
const fieldValue = (
  field: Field,
  answer: ReadonlyArray<string>
): string | number | boolean | Array<string> | undefined => {
  const [first] = answer
  if (first === undefined) return undefined
  if (field.type === "array") return [...answer]
  if (field.type === "boolean") return first === "yes"
  if (field.type !== "number" && field.type !== "integer") return answer.join(", ")
  return Number.isFinite(Number(first)) ? Number(first) : undefined
}

/** The content of the form, from the chosen labels of each question. */
export const contentOf = (form: Form, answers: ReadonlyArray<ReadonlyArray<string>>) =>
  Object.fromEntries(
    fieldsOf(form).flatMap(([name, field], index) => {
      const value = fieldValue(field, answers[index] ?? [])
      return value === undefined ? [] : [[name, value]]
    })
  )
