export { writeTar, type TarEntry } from './tar-writer.ts';
