export { layer } from "./service.ts"
