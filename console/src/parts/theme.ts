/** Light, dark, or as the system has it; kept by the browser. */
import { useSyncExternalStore } from "react"

export type Theme = "system" | "light" | "dark"
const key = "theme"
const listeners = new Set<() => void>()

const stored = (): Theme => {
  const value = localStorage.getItem(key)
  return value === "light" || value === "dark" ? value : "system"
}

export const applyTheme = (theme: Theme = stored()): void => {
  if (theme === "system") document.documentElement.removeAttribute("data-theme")
  else document.documentElement.dataset["theme"] = theme
}

export const setTheme = (theme: Theme): void => {
  if (theme === "system") localStorage.removeItem(key)
  else localStorage.setItem(key, theme)
  applyTheme(theme)
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}
export const useTheme = (): Theme => useSyncExternalStore(subscribe, stored)
