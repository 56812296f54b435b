/** A value as it is quoted in messages. */
export const quoted = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 80)
