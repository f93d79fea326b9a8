export { ARCHITECTURES, namesOf, type Architecture } from './architecture.ts';
export { accountEntries, IMAGE_NODE_PATH, IMAGE_USER, nodeEntries } from './base-system.ts';
export { readBuildStamp, type BuildStamp } from './build-stamp.ts';
export { writeDebianPackage } from './debian-package.ts';
export { debianLibraries } from './debian-libraries.ts';
export { fetchNodeProgram, integrityHex, type NodeProgram } from './node-program.ts';
export { writeImage, type BuiltImage, type ImageConfig } from './oci-image.ts';
export { runTool } from './run-tool.ts';
export { createSbom, npmPurl, sbomFile, writeSbom, type BillOfMaterials, type Component } from './sbom.ts';
