import { everyPlatform } from "./EveryPlatform.ts"
import { platformASide } from "./PlatformASide.ts"
import { platformBSide } from "./PlatformBSide.ts"

everyPlatform("platform_a", platformASide)
everyPlatform("platform_b", platformBSide)
