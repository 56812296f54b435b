/** Who takes over from the author, where the human wants another agent. */
import { useState } from "react"
import { type ChosenAgent, isNobodyElse } from "./pending.ts"

interface Props {
  /** The choice that it belongs to, in words. */
  readonly choice: string
  readonly value: ChosenAgent
  readonly onChange: (value: ChosenAgent) => void
}

const input = "border-line bg-page text-strong mt-1 block min-h-11 w-full rounded-md border px-3 py-2 text-base"

export function AgentFields({ choice, onChange, value }: Props) {
  const [isNamed] = useState(!isNobodyElse(value))
  return (
    <details className="text-sm" open={isNamed}>
      <summary className="text-soft">Another agent, with “{choice}”</summary>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        <label className="text-soft">
          Runtime
          <input
            autoCapitalize="none"
            className={input}
            list="runtimes"
            onChange={({ target }) => onChange({ ...value, runtime: target.value })}
            placeholder="as now"
            value={value.runtime}
          />
        </label>
        <label className="text-soft">
          Model
          <input
            autoCapitalize="none"
            className={input}
            onChange={({ target }) => onChange({ ...value, model: target.value })}
            placeholder="the runtime’s own"
            value={value.model}
          />
        </label>
        <label className="text-soft">
          Variant
          <input
            autoCapitalize="none"
            className={input}
            onChange={({ target }) => onChange({ ...value, variant: target.value })}
            placeholder="the model’s own"
            value={value.variant}
          />
        </label>
        <datalist id="runtimes">
          <option value="opencode" />
          <option value="claude" />
        </datalist>
      </div>
      <p className="text-soft">For the rest of the phase, with a verified record of what is done.</p>
    </details>
  )
}
