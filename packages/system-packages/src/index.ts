export { ensureSystemPackages, findProgram, type EnsureResult, type SystemPackage } from './ensure.ts';
