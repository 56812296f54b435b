/** The key that does the same as the button it stands on. Screen readers name the button alone. */
import type { ReactNode } from "react"

export function Key({ children }: { readonly children: ReactNode }) {
  return (
    <span aria-hidden="true" className="key">
      {children}
    </span>
  )
}
