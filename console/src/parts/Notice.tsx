/** Sentences about the state of a page: nothing there, being read, cannot be read. */
import type { ReactNode } from "react"
import { ApiFailure } from "../data/api.ts"
import { Heading } from "./Heading.tsx"

export function Empty({ children, title }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="card px-6 py-12 text-center">
      <Heading className="text-lg">{title}</Heading>
      {children !== undefined && <div className="text-soft mx-auto mt-2 max-w-prose">{children}</div>}
    </div>
  )
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="text-soft py-4" role="status">
      Reading {what}…
    </p>
  )
}

export function Failed({ error, what }: { readonly error: Error; readonly what: string }) {
  const hint = error instanceof ApiFailure ? error.hint : "Reload the page."
  return (
    <div className="border-bad bg-bad-tint rounded-md border px-3 py-2" role="alert">
      <p className="text-bad font-medium">
        {what}: {error.message}
      </p>
      <p className="text-text">{hint}</p>
    </div>
  )
}

export type Tone = "soft" | "good" | "warn" | "bad" | "accent"
const tones: Record<Tone, string> = {
  soft: "bg-well text-soft",
  good: "bg-well text-good",
  warn: "bg-warn-tint text-warn",
  bad: "bg-bad-tint text-bad",
  accent: "bg-tint text-accent"
}

export function Tag({ children, tone = "soft" }: { readonly children: ReactNode; readonly tone?: Tone }) {
  return (
    <span className={`inline-block rounded-full px-2 text-xs font-medium leading-6 whitespace-nowrap ${tones[tone]}`}>
      {children}
    </span>
  )
}
