/** The page's name in the browser's tab, with how many questions are open. */
import { useQuery } from "@tanstack/react-query"
import { useEffect } from "react"
import { titleText } from "../data/format.ts"
import { questionsQuery } from "../data/queries.ts"

export const useTitle = (page: string): void => {
  const { data: open = 0 } = useQuery({ ...questionsQuery, select: ({ length }) => length })
  useEffect(() => {
    document.title = titleText(page, open)
  }, [open, page])
}

/** For a page that knows no questions. */
export const usePlainTitle = (page: string): void =>
  useEffect(() => {
    document.title = titleText(page)
  }, [page])
