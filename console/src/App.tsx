/** The pages by their paths, behind the sign-in. */
import type { ConsoleSession } from "@reprise/protocol"
import { QueryClientProvider } from "@tanstack/react-query"
import { createRootRouteWithContext, createRoute, createRouter, Link, RouterProvider } from "@tanstack/react-router"
import { useCallback, useMemo, useState } from "react"
import { makeQueryClient } from "./data/queries.ts"
import { NeedsYou } from "./pages/NeedsYou.tsx"
import { Run } from "./pages/Run.tsx"
import { Runs } from "./pages/Runs.tsx"
import { Session } from "./pages/Session.tsx"
import { Settings } from "./pages/Settings.tsx"
import { SignIn } from "./pages/SignIn.tsx"
import { StartRun } from "./pages/StartRun.tsx"
import { Empty, Failed } from "./parts/Notice.tsx"
import { SignedIn } from "./parts/session.tsx"
import { useTitle } from "./parts/title.ts"
import { Shell } from "./Shell.tsx"

interface Context {
  readonly onSignedOut: () => void
}

function NotFound() {
  useTitle("No such page")
  return (
    <Empty title="There is no such page">
      <Link className="text-accent inline-flex min-h-11 items-center underline" to="/">
        To the open questions
      </Link>
    </Empty>
  )
}

const root = createRootRouteWithContext<Context>()({
  component: () => <Shell onSignedOut={root.useRouteContext().onSignedOut} />,
  notFoundComponent: () => <NotFound />
})

const needsYou = createRoute({ getParentRoute: () => root, path: "/", component: () => <NeedsYou /> })
const question = createRoute({
  getParentRoute: () => root,
  path: "/questions/$id",
  component: () => <NeedsYou id={question.useParams().id} />
})
const runs = createRoute({ getParentRoute: () => root, path: "/runs", component: Runs })
const startRun = createRoute({ getParentRoute: () => root, path: "/start", component: StartRun })
const settings = createRoute({ getParentRoute: () => root, path: "/settings", component: Settings })
const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$id",
  component: () => <Run id={run.useParams().id} key={run.useParams().id} />
})
const session = createRoute({
  getParentRoute: () => root,
  path: "/sessions/$id",
  component: () => <Session id={session.useParams().id} key={session.useParams().id} />
})

const routeTree = root.addChildren([needsYou, question, runs, startRun, settings, run, session])
const makeRouter = (context: Context) =>
  createRouter({
    routeTree,
    context,
    defaultPreload: false,
    scrollRestoration: true,
    defaultErrorComponent: ({ error }) => (
      <Failed error={error instanceof Error ? error : new Error(String(error))} what="This page cannot be shown" />
    )
  })

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}

interface Props {
  /** Who is signed in. */
  readonly session: ConsoleSession | undefined
  readonly signInFailed: Error | undefined
}

export function App({ session: before, signInFailed }: Props) {
  const [session, setSession] = useState(before)
  const onSignedOut = useCallback(() => setSession(undefined), [])
  const client = useMemo(makeQueryClient, [])
  const router = useMemo(() => makeRouter({ onSignedOut }), [onSignedOut])
  if (session === undefined) {
    return (
      <SignIn
        failed={signInFailed}
        onSignedIn={(now) => {
          client.clear()
          setSession(now)
        }}
      />
    )
  }
  return (
    <SignedIn value={session}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </SignedIn>
  )
}
