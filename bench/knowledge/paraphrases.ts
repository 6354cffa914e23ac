/** Questions in other words than the code's: each names the file of es-toolkit whose function answers it. */

const TEXT = `
array/chunk|cut a long sequence into batches of equal size
array/compact|throw away all falsy entries
array/countBy|tally how many entries fall into each bucket
array/difference|entries that are in one but missing from the other
array/drop|skip the leading few entries
array/dropRight|cut off the tail end by a number
array/dropWhile|skip from the start as long as a test holds
array/fill|overwrite a stretch of slots with one value
array/flatten|turn nested sequences into a single level
array/flattenDeep|remove every level of nesting completely
array/forEachRight|visit entries backwards from the end
array/groupBy|put entries into buckets by a computed label
array/head|the very first entry
array/initial|everything but the final entry
array/intersection|entries both have in common
array/isSubset|does one contain every entry of the other
array/keyBy|build a lookup table from a list
array/last|the final entry
array/limitAsync|cap how many calls run concurrently
array/maxBy|entry with the highest score
array/minBy|entry with the lowest score
array/orderBy|arrange by several criteria ascending or descending
array/partition|split into those passing a test and those failing it
array/pull|delete given values in place
array/pullAt|delete entries at positions in place
array/sample|choose one entry at random
array/sampleSize|choose several entries at random
array/shuffle|put into random order like a deck of cards
array/sortBy|arrange ascending by several criteria
array/tail|all but the leading entry
array/take|keep only the leading few
array/takeRight|keep only the trailing few
array/takeWhile|keep from the start as long as a test holds
array/union|combine without repeats
array/uniq|drop repeats
array/uniqBy|drop repeats judged by a computed label
array/unzip|transpose rows back into columns
array/windowed|sliding frames over a sequence
array/without|leave out certain values
array/xor|entries that only one of both has
array/zip|pair up entries of several lists by position
array/zipObject|make a record from names and contents
array/combinations|all ways to choose k out of n
array/cartesianProduct|every pairing of two lists
function/after|do nothing until called often enough
function/ary|pass on no more than n parameters
function/before|stop running once called often enough
function/curry|supply parameters one at a time
function/debounce|wait until calls calm down
function/flow|chain steps so that each gets the previous output
function/flowRight|chain steps from last to first
function/identity|give back what was passed in
function/memoize|remember earlier outputs to avoid recomputation
function/negate|flip a predicate
function/noop|a placeholder that does nothing
function/once|run at most a single time
function/partial|fix the leading parameters ahead of time
function/retry|try again when it fails
function/throttle|run at most every so many milliseconds
function/unary|pass on the first parameter only
math/clamp|keep a number between two bounds
math/inRange|is a number between two bounds
math/mean|the average
math/median|the middle value of sorted numbers
math/percentile|value below which a share of numbers lies
math/randomInt|a random whole number between two bounds
math/range|consecutive numbers from here to there
math/round|cut to a number of decimals
math/sum|add everything up
math/lerp|blend linearly between two numbers
object/clone|shallow copy
object/cloneDeep|copy including everything nested
object/flattenObject|nested keys joined with dots
object/invert|swap names and contents
object/mapKeys|rename every property by a callback
object/mapValues|transform every property content by a callback
object/merge|combine two records recursively in place
object/omit|copy leaving out certain properties
object/pick|copy keeping only certain properties
object/toCamelCaseKeys|rename properties so that humps separate words
object/toSnakeCaseKeys|rename properties so that underscores separate words
object/toMerged|combine two records recursively into a new one
object/deepFreeze|make everything nested immutable
predicate/isEqual|are two things the same, compared recursively
predicate/isNil|missing: neither value nor anything
predicate/isPlainObject|is it an ordinary record, not an instance of some class
predicate/isPrimitive|is it a scalar
predicate/isJSON|can this text be parsed as serialized data
predicate/isEmptyObject|has it no properties at all
promise/delay|sleep for some milliseconds
promise/mutex|only one task at a time may enter
promise/semaphore|a limited number of tasks may enter at once
promise/timeout|fail after some milliseconds
promise/withTimeout|give up on a slow task
string/capitalize|make the first letter big and the rest small
string/deburr|strip accents from letters
string/escape|make text safe for HTML
string/escapeRegExp|make text safe inside a pattern
string/kebabCase|words joined with hyphens
string/pad|center text by filling both sides
string/reverseString|spell text backwards
string/startCase|big first letter for every word with spaces between
string/words|tokenize text
util/attempt|catch what is thrown and return it instead
util/invariant|throw unless a condition holds
`;

/** Which file answers, without its extension, and the question. */
export interface Paraphrase {
  readonly file: string;
  readonly question: string;
}

/** The questions. */
export const PARAPHRASES: readonly Paraphrase[] = TEXT.trim()
  .split("\n")
  .map((line) => {
    const [file = "", question = ""] = line.split("|");
    return { file: `es-toolkit/dist/${file}`, question };
  });
