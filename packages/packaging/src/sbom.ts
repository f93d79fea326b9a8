import { writeFile } from 'node:fs/promises';
import type { BuildStamp } from './build-stamp.ts';

/** A third-party part of a deliverable. */
export interface Component {
  type: 'library' | 'application';
  name: string;
  version: string;
  /** Package URL (ECMA-427), by which scanners look up known vulnerabilities. */
  purl: string;
  /** CPE 2.3, for databases that know no package URL of the component. */
  cpe?: string;
  /** SPDX license expression, as its package declares it. */
  license?: string;
  /** Of the package that was unpacked, in hex. */
  sha512?: string;
}

/** A deliverable and its parts. */
export interface BillOfMaterials {
  /** Name of the deliverable. */
  name: string;
  stamp: BuildStamp;
  /** `container` for an image, otherwise `application`. */
  type: 'container' | 'application';
  components: readonly Component[];
}

/** Name of the bill of materials that belongs to an archive; CycloneDX recommends the ending. */
export function sbomFile(output: string): string {
  return `${output}.cdx.json`;
}

/**
 * Writes a bill of materials as CycloneDX 1.6. It carries the commit's date and no serial number, so the same parts
 * give the same bytes.
 */
export async function writeSbom(file: string, bill: BillOfMaterials): Promise<void> {
  await writeFile(file, `${JSON.stringify(createSbom(bill), null, 2)}\n`);
}

/** The CycloneDX document, each component once and sorted. */
export function createSbom({ name, stamp, type, components }: BillOfMaterials): object {
  const unique = new Map(components.map((component) => [component.purl, component]));
  const sorted = [...unique.values()].toSorted((left, right) => (left.purl < right.purl ? -1 : 1));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: stamp.buildDate,
      component: {
        type,
        'bom-ref': name,
        name,
        version: stamp.version,
        licenses: [{ expression: 'Apache-2.0' }],
        properties: [{ name: 'svc:revision', value: stamp.gitCommit }],
      },
    },
    components: sorted.map(({ license, sha512, ...component }) => ({
      'bom-ref': component.purl,
      ...component,
      ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
      ...(sha512 === undefined ? {} : { hashes: [{ alg: 'SHA-512', content: sha512 }] }),
    })),
    dependencies: [{ ref: name, dependsOn: sorted.map(({ purl }) => purl) }],
  };
}

/** Package URL of an npm package; `@scope/name` becomes `%40scope/name`. */
export function npmPurl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;
}

/** Package URL of a Debian package. */
export function debianPurl(name: string, version: string, architecture: string): string {
  return `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
}
