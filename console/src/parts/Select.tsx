interface Props<Value extends string> {
  /** Its name for those who hear the page. */
  readonly label: string
  readonly options: ReadonlyArray<readonly [value: Value, text: string]>
  readonly value: Value
  readonly onChange: (value: Value) => void
}

export function Select<Value extends string>({ label, onChange, options, value }: Props<Value>) {
  return (
    <label className="text-soft text-sm">
      <span className="sr-only">{label}</span>
      <select
        className="bg-card text-text min-h-11 rounded-md"
        onChange={({ target }) => {
          const chosen = options.find(([one]) => one === target.value)
          if (chosen !== undefined) onChange(chosen[0])
        }}
        value={value}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
