export { buildPlatformPackage } from './debian-package.ts';
export { buildPlatformImage } from './image.ts';
