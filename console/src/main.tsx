/**
 * Starts the console. The token of a link stands after `#`, which no browser sends; it is exchanged at once for a
 * session and taken out of the address before anything else happens.
 */
import { createRoot } from "react-dom/client"
import { App } from "./App.tsx"
import { currentSession, signIn } from "./data/api.ts"
import { AnswerByLink } from "./pages/AnswerByLink.tsx"
import { applyTheme } from "./parts/theme.ts"
import "./styles.css"

const tokenInLink = (): string | undefined => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? undefined
  if (token !== undefined) history.replaceState(null, "", `${location.pathname}${location.search}`)
  return token
}

/** The page of a link in a message, which needs no session. The link stands behind `#`, so that a reload keeps it. */
const showAnswerLink = (element: HTMLElement) =>
  createRoot(element).render(<AnswerByLink link={location.hash.slice(1)} />)

const start = async () => {
  applyTheme()
  const element = document.getElementById("root")
  if (element === null) return
  if (location.pathname === "/answer") return showAnswerLink(element)
  const token = tokenInLink()
  const failed =
    token === undefined
      ? undefined
      : await signIn(token).then(
          () => undefined,
          (error: Error) => error
        )
  // Whoever has a session needs no token.
  const session = await currentSession().catch(() => undefined)
  createRoot(element).render(<App session={session} signInFailed={session === undefined ? failed : undefined} />)
}

void start()
