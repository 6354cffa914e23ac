/**
 * Names of services that give out keys whose form tells nothing: hexadecimal, a UUID, letters and digits.
 *
 * A value beside such a name and a word such as `key` or `token` is one of them when it looks random, however short.
 * Names that are common words of programs are left out, and so are those that have a rule of their own.
 */
const NAMES = `
abstractapi abuseipdb abyssale accuweather activetrail adafruit adjust adobe adroll adzuna aerisapi aftership agora
ahrefs airbrake airnow airship airvisual alchemy alegra alienvault alpaca amazonpay ambee anypoint apacta apideck
apiflash apilayer apimatic apitemplate appcenter appcues appfigures appfollow applovin appmetrica appoptics appsflyer
appsignal appveyor arcgis artsy assembla atera audd autodesk avalara avature aviationstack axonaut aylien ayrshare
bamboohr bandwidth bannerbear baremetrics basecamp beamer beebole betterstack betteruptime bigcommerce billomat binance
bitbar bitly bitmex bitpay bitrise bittrex blazemeter blizzard blockchair blockcypher blockfrost blocknative bluejeans
bombbomb borgbase braintree branchio brandfetch braze brightcove brightdata browshot buddybuild bugherd bybit
calendarific calendly callrail campaignmonitor capsulecrm captaindata cargurus caspio censys cexio chainstack chargebee
chargify chartmogul chatfuel checkmarx checkvist chronosphere cicero clarifai cleverbridge clevertap clickhelp
clicksend clicktime cloudamqp cloudconvert cloudcraft cloudhealth cloudimage cloudmailin cloudmersive cloudsmith cloze
clubhouse codacy codeclimate codefresh codemagic codeship codesandbox coinapi coinlayer coinmarketcap coingecko commercejs
companieshouse contentstack convertapi copper coveralls craftmypdf criteo crowdin crowdstrike cryptocompare
currencylayer currentsapi customerio cypress dailymotion darksky databox datagov datarobot datocms debounce deepai
deepl deepseek delighted delinea demandbase detectify detectlanguage dialogflow diffbot digicert digikey directus
disqus docparser documo docusign doordash dotdigital drift dronahq drone dropboxsign duosecurity dynadot dynalist
easypost ecobee edamam elasticemail eloqua ephemeral equinix esputnik etoro everhour everwebinar exchangerate
expensify exportio eyeem faceplusplus faunadb fedex feedly fetchrss fibery fileio filestack finage firebase firecrawl
fitbit fivetran fixerio flexport flickr flightaware flightstats flowroute flutterwave formassembly formstack foursquare
freeagent freemius freshbooks freshchat freshping frontapp fullcontact fullstory fulcrum gandi geckoboard gemfury gengo
geoapify geocodio getresponse getstream giphy gitbook gitee gitter glassnode gocanvas godaddy goodreads gorgias
goshippo gotomeeting graphcms graphhopper gravatar greenhouse greynoise gridly groovehq gtmetrix guardianapi gumroad
happyscribe harness harvest hasura hellosign helpscout hightouch holidayapi honeywell hootsuite hostinger hotjar
huggingface hunterio hygraph hypertrack iconfinder iexcloud ifttt imagekit imagga imgix imgur impala infobip
infura insightly instamojo instatus intrinio invision ipapi ipdata ipgeolocation ipqualityscore ipstack iterable
jotform jumpcloud jwplayer kaltura kayako keycdn keycloak kickbox klarna klipfolio knack kontent kraken
landbot larksuite lastfm leadfeeder leanplum lemlist lemonsqueezy lexigram lightstep liveagent livechat livekit
livestorm lob localytics locationiq logdna loggly logentries loginradius logrocket logtail logzio lokalise lytics
mailboxlayer mailerlite mailersend mailosaur mailsac mailtrap mandrill mapquest marketo marketstack mashape matomo
mediastack meilisearch meistertask metaapi mezmo microcms mindmeister miro mixmax mlflow mockaroo moengage mollie
monkeylearn moosend moralis mouser mparticle musixmatch myfitnesspal mypos namecheap namesilo nasaapi nessus
netatmo nethunt netsuite neutrinoapi newsapi nexmo nftport nimble nightfall numverify nutritionix nylas nytimes oanda
omnisend onelogin onesignal opencage openexchangerates opensea openuv openweather openweathermap optimizely
otreeba outbrain outreach overloop packagecloud pagarme pandadoc pandascore paperform papertrail parseur partnerstack
passbolt pastebin paymongo paysafe paystack payu pdfshift peakon peopledatalabs pepipost percy phabricator
pinata pingdom pingidentity pipedream pipedrive pivotal planyo plivo podio poeditor poloniex polygonio portainer
positionstack postmates powerbi printful privacycom prodpad productboard proxycrawl publitio pubnub pulsedive
pushbullet pushover pushwoosh qualaroo qualtrics qualys quickbase quickbooks quovo rapid7 raygun rebrandly
recharge recurly redash refiner rentman replyio requestbin revenuecat ringcentral riotgames ritekit rocketchat
rocketreach route4me rubrik rudderstack runscope safetyculture salesflare salesloft salesmate samsara satismeter
saucelabs scalyr scopus scrapeowl scraperapi scrapfly scrapingant scrapingbee scrapinghub screenshotapi
securitytrails seeklearn selectpdf semaphoreci semrush sendcloud sendinblue sendpulse serpstack servicenow shodan
shortcut shotstack shutterstock sightengine sigfox sinch singular sirv sitejabber skybiometry skyscanner smartling
smartsheet smartystreets smooch snapchat snipcart snowplow socrata solarwinds sonarcloud soundcloud spacelift
speechmatics splitio spoonacular spreedly springserve stackpath stackhawk statuscake statuspage steamapi steamweb
storyblok stormglass stravaapi strava surveymonkey surveysparrow survicate swiftype swaggerhub symbl tableau
taboola tanium tapfiliate tatum taxjar teamcity teamgate teamwork telesign tenable textmagic thousandeyes
threatconnect ticketmaster tiingo timezonedb tinify tinypng tmdb todoist toggl tomorrowio tomtom tradier
transifex travelpayouts tripadvisor truelayer trustpilot tumblr twelvedata typesense ubidots uberapi unbounce
unleash uploadcare uplead uptimerobot urbanairship urlscan userstack usersnap vagrantcloud validere vatlayer veracode
verimail veriphone versionone vimeo virustotal visualcrossing voicegain vonage vouchery vpnapi vtiger vwo wakatime
walkscore weatherapi weatherbit weatherstack webex webflow webscraper whoisxml whoxy wistia wolfram woocommerce
wootric wordpress wrike wufoo xero yandex yahooapi youneedabudget ynab youtrack youtube zapier zenhub zenkit zenrows
zenserp zeplin zerobounce zerotier zipcodeapi zoominfo zulip zuora
`;

/** The names, lower case without separators. */
export const VENDOR_NAMES: readonly string[] = NAMES.trim().split(/\s+/);
