/** Who takes over from the author, where the human wants another agent. */
import { useState } from "react"
import { type ChosenAgent, isNobodyElse } from "./pending.ts"

interface Props {
  /** The choice that it belongs to, in words. */
  readonly choice: string
  readonly value: ChosenAgent
  readonly onChange: (value: ChosenAgent) => void
}

/** What is named, how the field is called, and what holds while it is empty. */
const fields = [
  ["runtime", "Runtime", "as now"],
  ["model", "Model", "the runtime’s own"],
  ["variant", "Variant", "the model’s own"]
] as const

export function AgentFields({ choice, onChange, value }: Props) {
  const [isNamed] = useState(!isNobodyElse(value))
  return (
    <details className="text-sm" open={isNamed}>
      <summary className="text-soft">Another agent, with “{choice}”</summary>
      <div className="mt-1 grid grid-cols-2 gap-2 sm:grid-cols-3">
        {fields.map(([name, label, placeholder]) => (
          <label className="text-soft" key={name}>
            {label}
            <input
              autoCapitalize="none"
              className="border-line bg-page text-strong mt-1 block min-h-11 w-full rounded-md border px-3 py-2 text-base"
              list={name === "runtime" ? "runtimes" : undefined}
              onChange={({ target }) => onChange({ ...value, [name]: target.value })}
              placeholder={placeholder}
              value={value[name]}
            />
          </label>
        ))}
        <datalist id="runtimes">
          <option value="opencode" />
          <option value="claude" />
        </datalist>
      </div>
      <p className="text-soft mt-1">For the rest of the phase, with a verified record of the work so far.</p>
    </details>
  )
}
