/** What one look found. */
export interface Finding {
  readonly check: string
  readonly state: "ok" | "warning" | "broken"
  readonly detail: string
  /** What to do; absent when all is well. */
  readonly next?: string
}

export const ok = (check: string, detail: string): Finding => ({ check, state: "ok", detail })
export const warning = (check: string, detail: string, next: string): Finding => ({
  check,
  state: "warning",
  detail,
  next
})
export const broken = (check: string, detail: string, next: string): Finding => ({
  check,
  state: "broken",
  detail,
  next
})
