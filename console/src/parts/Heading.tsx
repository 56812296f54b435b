/**
 * Where readers are led to. A page that is new, or another question, begins at its heading: who uses the keyboard or hears
 * the page would stay at a button that is gone.
 */
import { type ComponentProps, useEffect, useRef } from "react"

let isWanted = false

const isTypedIn = (element: Element | null): boolean =>
  element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement

const focusQuietly = (element: HTMLElement | null) => element?.focus({ preventScroll: true })

/** Leads to the heading of what is shown, or as soon as it is there. Nobody is led away from what they write. */
export const focusHeading = (): void => {
  if (isTypedIn(document.activeElement)) return
  const heading = document.querySelector<HTMLElement>("main [data-heading]")
  isWanted = heading === null
  focusQuietly(heading ?? document.querySelector("main"))
}

interface Props extends ComponentProps<"h1"> {
  readonly level?: 1 | 2
}

/** The heading of what a page is about: one on each page. */
export function Heading({ level = 1, ...rest }: Props) {
  const element = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (!isWanted || isTypedIn(document.activeElement)) return
    isWanted = false
    focusQuietly(element.current)
  }, [])
  const Level = `h${level}` as const
  return <Level {...rest} data-heading="" ref={element} tabIndex={-1} />
}
