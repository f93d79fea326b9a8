import ts from 'typescript';
import { projectFiles, readProjectFile } from './project-files.ts';

export interface ImportOf {
  readonly specifier: string;
  /** True if the import does not exist at run time. */
  readonly typeOnly: boolean;
  /** Names imported or re-exported as values; `*` for a whole module. */
  readonly names: readonly string[];
}

export interface TypeScriptSource {
  readonly path: string;
  readonly text: string;
  readonly syntax: ts.SourceFile;
  readonly imports: readonly ImportOf[];
}

/** Returns every TypeScript file of the project, parsed. */
export function typeScriptSources(): TypeScriptSource[] {
  return projectFiles()
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts') && !path.includes('/generated/'))
    .map((path) => {
      const text = readProjectFile(path);
      const syntax = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
      return { path, text, syntax, imports: importsOf(syntax) };
    });
}

function importsOf(syntax: ts.SourceFile): ImportOf[] {
  const found: ImportOf[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) found.push(fromImport(node));
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) found.push(fromExport(node));
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const argument = node.arguments[0];
      if (argument !== undefined && ts.isStringLiteralLike(argument)) {
        found.push({ specifier: argument.text, typeOnly: false, names: ['*'] });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(syntax);
  return found;
}

function fromImport(node: ts.ImportDeclaration): ImportOf {
  const specifier = specifierOf(node.moduleSpecifier);
  const clause = node.importClause;
  if (clause === undefined) return { specifier, typeOnly: false, names: ['*'] };
  const bindings = clause.namedBindings;
  const names = [
    ...(clause.name === undefined ? [] : ['default']),
    ...(bindings !== undefined && ts.isNamespaceImport(bindings) ? ['*'] : []),
    ...(bindings !== undefined && ts.isNamedImports(bindings) ? valueNames(bindings.elements) : []),
  ];
  return { specifier, typeOnly: clause.phaseModifier === ts.SyntaxKind.TypeKeyword || names.length === 0, names };
}

function fromExport(node: ts.ExportDeclaration): ImportOf {
  const specifier = node.moduleSpecifier === undefined ? '' : specifierOf(node.moduleSpecifier);
  const clause = node.exportClause;
  const names = clause !== undefined && ts.isNamedExports(clause) ? valueNames(clause.elements) : ['*'];
  return { specifier, typeOnly: node.isTypeOnly || names.length === 0, names };
}

function valueNames(elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[]): string[] {
  return elements
    .filter((element) => !element.isTypeOnly)
    .map((element) => (element.propertyName ?? element.name).text);
}

function specifierOf(node: ts.Expression): string {
  return ts.isStringLiteralLike(node) ? node.text : '';
}

/** Returns `path:line`, for a message that an editor can open. */
export function placeOf(source: TypeScriptSource, node: ts.Node): string {
  return `${source.path}:${source.syntax.getLineAndCharacterOfPosition(node.getStart(source.syntax)).line + 1}`;
}
