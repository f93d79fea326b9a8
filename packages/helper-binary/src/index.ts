export type { NativeProgram } from './go-build.ts';
export { readChecksums, type Checksums } from './checksums.ts';
export { ensureGo, readGoVersion, type GoOptions } from './go-toolchain.ts';
export {
  buildAndRecord,
  createHelperBinaries,
  type HelperBinaries,
  type HelperBinary,
  type HelperOptions,
} from './helper-binaries.ts';
