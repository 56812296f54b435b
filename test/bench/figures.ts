/** The median and the 99th percentile of many measurements. */
export interface Figures {
  readonly p50: number
  readonly p99: number
}

export const figuresOf = (values: ReadonlyArray<number>): Figures => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

export const milliseconds = ({ p50, p99 }: Figures): string => `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`
