// Addresses that people read.

/**
 * Return an address with other parameters, where a space stays %20.
 * @param {string} address
 * @param {(parameters: URLSearchParams) => void} change
 */
export function withParameters(address, change) {
  const url = new URL(address);
  change(url.searchParams);
  url.search = url.search.replaceAll("+", "%20"); // a plus sign of a text is %2B
  return url;
}
