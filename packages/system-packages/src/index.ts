export { ensureSystemPackages, isPresent, type EnsureResult, type SystemPackage } from './ensure.ts';
